// Write sdk.json (requests signed by GitHub's own library, and checked by it) and members.json (the top-level members
// of events, from GitHub's published schemas and from the community's examples). In a copy of this folder:
//
//   npm install @octokit/webhooks-methods@6.0.0 @octokit/openapi-webhooks@12.1.0 @octokit/webhooks-examples@7.6.1
//   node generate.mjs

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { sign, verify } from "@octokit/webhooks-methods";

const here = new URL("./", import.meta.url);
const { resolve } = createRequire(import.meta.url);
const read = (path) => readFileSync(path, "utf8");
const lines = (items) => items.map((item) => JSON.stringify(item)).join(",\n");
const version = sign.VERSION;

const SECRET = "It is no secret here: kXq0fVn7sYb2TfLrD4mZ";
const payloads = new URL("payloads/", here);
const names = readdirSync(payloads).filter((name) => !name.includes("large")).sort();
const bodies = names.map((name) => [name, read(new URL(name, payloads))]);
bodies.push(["a form", `payload=${encodeURIComponent(read(new URL("ping.json", payloads)))}`]);
bodies.push(["non-ASCII, CRLF", '{"zen":"Größe — 山田 😀",\r\n"n":1.0e2}\n']);
const cases = [];
for (const [name, body] of bodies) {
  const signature = await sign(SECRET, body);
  if (!(await verify(SECRET, body, signature))) throw new Error(name);
  const base64 = Buffer.from(body).toString("base64");
  cases.push({
    name,
    source: `official-sdk @octokit/webhooks-methods ${version}`,
    secrets: [SECRET],
    headers: [["X-Hub-Signature-256", signature]],
    body_base64: base64,
    now: 1750000000,
    expect: "valid",
    signed_base64: base64,
  });
}
writeFileSync(new URL("sdk.json", here), `[\n${lines(cases)}\n]\n`);

// Of every schema of every event: what it requires, and all it knows. Of every example: what it has.
const members = new Map();
const add = (event, source, required, known) => {
  const sets = [required, known].map((names) => [...names].sort().join(" "));
  const rows = members.get(event) ?? new Map();
  members.set(event, rows.set(sets.join("|"), { event, source, required: sets[0], known: sets[1] }));
};
const schemas = JSON.parse(read(resolve("@octokit/openapi-webhooks/generated/api.github.com.json")));
const deref = (schema) =>
  schema.$ref ? deref(schema.$ref.slice(2).split("/").reduce((at, step) => at[step], schemas)) : schema;
const variants = (schema) => {
  const { oneOf, anyOf, ...one } = deref(schema);
  const several = oneOf ?? anyOf;
  return several ? several.flatMap(variants) : [one];
};
for (const { post } of Object.values(schemas.webhooks)) {
  const event = post.operationId.split("/")[0].replaceAll("-", "_");
  for (const schema of variants(post.requestBody.content["application/json"].schema)) {
    add(event, "schema", schema.required ?? [], Object.keys(schema.properties ?? {}));
  }
}
for (const { name, examples } of JSON.parse(read(resolve("@octokit/webhooks-examples")))) {
  for (const example of examples) add(name, "example", Object.keys(example), Object.keys(example));
}
const rows = [...members.keys()].sort().flatMap((event) => [...members.get(event).values()]);
writeFileSync(new URL("members.json", here), `[\n${lines(rows)}\n]\n`);
