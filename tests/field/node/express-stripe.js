// Express and `stripe`, as https://docs.stripe.com/webhooks/quickstart?lang=node shows it.
import express from "express";
import Stripe from "stripe";
import { effect, serve } from "./counter.js";

const stripe = new Stripe("sk_test_not_used");
const endpointSecret = process.env.SECRET;
const app = express();

app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
  const signature = request.headers["stripe-signature"];
  let event;
  try {
    event = stripe.webhooks.constructEvent(request.body, signature, endpointSecret);
  } catch (err) {
    return response.status(400).send(`Webhook Error: ${err.message}`);
  }
  switch (event.type) {
    case "payment_intent.succeeded":
      effect(event.id);
      break;
    default:
      console.log(`Unhandled event type ${event.type}.`);
  }
  response.send();
});

serve(app);
