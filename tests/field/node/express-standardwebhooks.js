// Express and `standardwebhooks`, as https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries/javascript shows it.
import express from "express";
import { Webhook } from "standardwebhooks";
import { effect, serve } from "./counter.js";

const app = express();

app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
  const wh = new Webhook(process.env.SECRET);
  try {
    wh.verify(request.body, request.headers);
  } catch (err) {
    return response.status(400).json({});
  }
  effect(request.headers["webhook-id"]);
  response.json({});
});

serve(app);
