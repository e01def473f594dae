// How often each event took effect: what the probe asks for at /effects/ID.
const counts = new Map();

/** Count one effect of the event of this id. */
export function effect(id) {
  counts.set(id, (counts.get(id) ?? 0) + 1);
}

/** Serve the counts and listen on the loopback. */
export function serve(app) {
  app.get("/effects/:id", (request, response) => {
    response.json({ count: counts.get(request.params.id) ?? 0 });
  });
  app.listen(Number(process.env.PORT), "127.0.0.1");
}
