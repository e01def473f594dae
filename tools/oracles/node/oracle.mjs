// Answers, line by line, whether the official Node libraries take a request for authentic.
//
// In:  {"sdk": .., "now": unix seconds, "secret": .., "headers": [[name, base64]..], "body": base64}
// Out: {"ok": true} or {"ok": false, "why": ..}
//
// Headers are what `node:http` makes of them: names in lower case, values in Latin-1, repeats joined by a comma and a space.
// All clocks stand at `now`.

import { createInterface } from "node:readline";
import { verify } from "@octokit/webhooks-methods";
import Stripe from "stripe";
import { Webhook } from "svix";

let now = 0;
Date.now = () => now * 1000;

const stripe = new Stripe("sk_test_only_for_its_webhooks");

const sdks = {
  "@octokit/webhooks-methods": (secret, headers, body) =>
    verify(secret, body.toString(), headers["x-hub-signature-256"]),

  "stripe-node": (secret, headers, body) =>
    stripe.webhooks.signature.verifyHeader(body, headers["stripe-signature"], secret, 300, undefined, now * 1000),

  svix: (secret, headers, body) => {
    try {
      new Webhook(secret).verify(body, headers);
    } catch (error) {
      // It parses the body once the signature holds: only that is asked here.
      if (!(error instanceof SyntaxError)) throw error;
    }
    return true;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  now = request.now;
  const headers = {};
  for (const [name, base64] of request.headers) {
    const key = name.toLowerCase();
    const value = Buffer.from(base64, "base64").toString("latin1");
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }
  const body = Buffer.from(request.body, "base64");
  let answer;
  try {
    const ok = await sdks[request.sdk](request.secret, headers, body);
    answer = { ok: ok === true, why: ok === true ? "" : "returned false" };
  } catch (error) {
    answer = { ok: false, why: error.constructor.name };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
