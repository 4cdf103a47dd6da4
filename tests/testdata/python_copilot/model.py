"""An OpenAI-compatible endpoint that answers from a script: each question has its list of answers, one a model call."""
import http.server
import json
import threading
import time


def text(content, delay=0.0):
    return {"text": content, "calls": [], "delay": delay}


def calls(*wanted, say="", delay=0.0):
    """`wanted` are (id, name, arguments); arguments that are no text become JSON."""
    return {"text": say, "delay": delay, "calls": [
        (call, name, args if isinstance(args, str) else json.dumps(args, ensure_ascii=False))
        for call, name, args in wanted]}


def refuse(status, message):
    return {"refuse": (status, message)}


class Model:
    """`script`: question → answers. A question that is not in it is answered with "You said: …". `with` ends it."""

    def __init__(self, script):
        self.script = script
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = model.answer(body["messages"])
                time.sleep(answer.get("delay", 0))
                try:
                    model.send(self, body, answer)
                except OSError:
                    pass  # The client has gone: it was stopped.

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def answer(self, messages):
        if messages[0]["role"] == "system" and "TITLE" in str(messages[0]["content"]):
            return text("Title: " + str(messages[1]["content"])[:20])
        last = max(i for i, m in enumerate(messages) if m["role"] == "user")
        question = messages[last]["content"]
        step = sum(m["role"] == "assistant" for m in messages[last:])
        answers = self.script.get(question)
        return answers[min(step, len(answers) - 1)] if answers else text(f"You said: {question}")

    def send(self, handler, body, answer):
        if "refuse" in answer:
            status, message = answer["refuse"]
            return self.reply(handler, status, {"error": {"message": message, "type": "invalid_request_error"}})
        if not body.get("stream"):
            return self.reply(handler, 200, self.whole(answer))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for delta in self.deltas(answer):
            self.event(handler, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        reason = "tool_calls" if answer["calls"] else "stop"
        self.event(handler, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        self.event(handler, {"choices": [], "usage": USAGE})
        handler.wfile.write(b"data: [DONE]\n\n")

    def deltas(self, answer):
        yield {"role": "assistant", "content": ""}
        for i in range(0, len(answer["text"]), 12):
            yield {"content": answer["text"][i:i + 12]}
        for at, (call, name, args) in enumerate(answer["calls"]):
            yield {"tool_calls": [{"index": at, "id": call, "type": "function",
                                   "function": {"name": name, "arguments": ""}}]}
            yield {"tool_calls": [{"index": at, "function": {"arguments": args}}]}

    def whole(self, answer):
        message = {"role": "assistant", "content": answer["text"]}
        if answer["calls"]:
            message["tool_calls"] = [
                {"id": call, "type": "function", "function": {"name": name, "arguments": args}}
                for call, name, args in answer["calls"]]
        return {**FRAME, "object": "chat.completion", "usage": USAGE, "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if answer["calls"] else "stop"}]}

    def event(self, handler, part):
        handler.wfile.write(f"data: {json.dumps({**FRAME, 'object': 'chat.completion.chunk', **part})}\n\n".encode())
        handler.wfile.flush()

    def reply(self, handler, status, value):
        data = json.dumps(value).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


FRAME = {"id": "answer-1", "created": 1772359200, "model": "scripted-1"}
USAGE = {"prompt_tokens": 120, "completion_tokens": 12, "total_tokens": 132}
