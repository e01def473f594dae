// Express and `@octokit/webhooks`, as https://github.com/octokit/webhooks.js#readme shows it.
import { Webhooks, createNodeMiddleware } from "@octokit/webhooks";
import express from "express";
import { effect, serve } from "./counter.js";

const webhooks = new Webhooks({ secret: process.env.SECRET });
webhooks.on("push", ({ id }) => effect(id));

const app = express();
app.use(createNodeMiddleware(webhooks, { path: "/webhook" }));
serve(app);
