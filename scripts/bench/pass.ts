// The least that a server in Deno can do for a stream: it passes the model's bytes on. What ours costs beyond this is ours.
// A GET is answered at once: how long that takes beside others tells how long anybody waits for a processor.
const [model] = Deno.args;
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
  if (request.method === "GET") return Response.json({});
  const response = await fetch(`${model}/chat/completions`, { method: "POST", body: await request.text() });
  const reader = response.body!.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-transform" },
  });
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));
