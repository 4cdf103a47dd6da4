"""Run in the venv of gns3-server: what the copilot itself hardly ever writes, written with its own saver.

    saver_rows.py PROJECT_DIR OUT.json

Makes PROJECT_DIR/gns3-copilot/copilot_checkpoints.db and writes to OUT.json what the copilot's own history says of it.
"""
import asyncio
import datetime
import decimal
import json
import os
import pathlib
import sys
import traceback
import uuid

from langchain_core.messages import (AIMessage, AIMessageChunk, ChatMessage, FunctionMessage, HumanMessage,
                                     HumanMessageChunk, RemoveMessage, SystemMessage, ToolMessage)
from langgraph.checkpoint.base import empty_checkpoint

from gns3server.agent.gns3_copilot.agent_service import AgentService
from gns3server.agent.gns3_copilot.chat_sessions_repository import ChatSessionsRepository

USER, PROJECT = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def at(minute):
    return {"created_at": f"2026-02-03T04:{minute:02}:00.123456"}


def kinds():
    """One message of every class, with contents and fields of every kind."""
    return [
        SystemMessage("You help with networks.", id="s1"),
        HumanMessage([{"type": "text", "text": "What is "}, {"type": "image_url", "image_url": {"url": PIXEL}},
                      {"type": "text", "text": "this? 🖼️"}], id="h1", metadata=at(1)),
        AIMessage([{"type": "text", "text": "A pixel. "}, "It is grey."], id="a1", metadata=at(2),
                  additional_kwargs={"reasoning_content": "One dot.", "refusal": None},
                  response_metadata={"model_name": "m", "finish_reason": "stop", "logprobs": None},
                  usage_metadata={"input_tokens": 5, "output_tokens": 7, "total_tokens": 12,
                                  "input_token_details": {"cache_read": 3}}),
        HumanMessageChunk("And now?", id="h2"),
        AIMessageChunk("Two calls.", id="a2", tool_call_chunks=[
            {"name": "one", "args": '{"a": [1, 2.5, -3], "b": {"c": null, "d": true}}', "id": "c1", "index": 0},
            {"name": "two", "args": "", "id": "c2", "index": 1}], metadata=at(4)),
        ToolMessage([{"type": "text", "text": "part one, "}, {"type": "text", "text": "part two"}], tool_call_id="c1",
                    name="one", artifact={"when": datetime.datetime(2026, 2, 3, 4, 5, 6, tzinfo=datetime.UTC),
                                          "id": uuid.UUID(int=7), "ports": {1, 2}, "path": pathlib.Path("a/b"),
                                          "cost": decimal.Decimal("1.10"), "raw": b"\x00\xff"}, metadata=at(5)),
        ToolMessage("It failed.", tool_call_id="c2", name="two", status="error", metadata={**at(6), "aborted": True}),
        AIMessage("", id="a3", tool_calls=[
            {"name": "three", "args": {"big": 2**63 - 1, "small": -2**63, "exact": 2**53, "text": "中文 🛰️ \u2028",
                                       "__proto__": {"x": 1}, "": "empty"}, "id": "c3"}],
                  invalid_tool_calls=[{"name": "four", "args": '{"a": ', "id": "c4", "error": "no JSON"}]),
        ToolMessage("fine", tool_call_id="c3"),
        FunctionMessage("old style", name="five", id="f1"),
        ChatMessage("as somebody", role="narrator", id="n1"),
        HumanMessage("The same id again.", id="h1"),
        AIMessage("Yes.", id="a1"),
        RemoveMessage(id="a9"),
        HumanMessage("", id="h3"),
        AIMessage("Last words.", id="a4", name="copilot"),
    ]


async def main(project, out):
    service = AgentService(project)
    saver = await service._get_checkpointer()
    sessions = ChatSessionsRepository(saver.conn)
    histories = {}

    async def session(thread, title, values, step=3, writes=()):
        await sessions.create_session(thread, USER, PROJECT, title, "lab_automation_assistant")
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        checkpoint = empty_checkpoint()
        versions = {name: f"{i + 1:032}.0.5" for i, name in enumerate(values)}
        checkpoint["channel_values"], checkpoint["channel_versions"] = values, versions
        config = await saver.aput(config, checkpoint, {"source": "loop", "step": step, "parents": {}}, versions)
        for task, items in writes:
            await saver.aput_writes(config, items, task)
        return config

    await session("kinds", "Every kind", {"messages": kinds(), "conversation_title": "Every kind", "llm_calls": 2})
    # A turn that was cut after its tools had answered, before the next checkpoint.
    asked = [HumanMessage("Ping both.", id="q1", metadata=at(1)),
             AIMessage("", id="q2", metadata=at(2), tool_calls=[
                 {"name": "ping", "args": {"to": "PC1"}, "id": "p1"}, {"name": "ping", "args": {"to": "PC2"}, "id": "p2"}])]
    await session("cut", "New Conversation", {"messages": asked, "branch:to:tool_node": None, "llm_calls": 1}, writes=[
        (str(uuid.UUID(int=3)), [("messages", [ToolMessage("PC1 answers", tool_call_id="p1", name="ping", metadata=at(3)),
                                               ToolMessage("PC2 is silent", tool_call_id="p2", name="ping", metadata=at(3))]),
                                 ("session_id", "cut"), ("branch:to:llm_call", None)])])
    # A turn that was cut before its question had become a message.
    await session("unheard", "New Conversation", {"__start__": {
        "messages": [HumanMessage("Is anybody there?", id="u1", metadata=at(1))], "llm_calls": 0}}, step=-1)
    # A row without any checkpoint: the copilot creates it before the first one.
    await sessions.create_session("nothing", USER, PROJECT, "New Conversation", None)
    for thread in ("kinds", "cut", "unheard", "nothing"):
        histories[thread] = (await service.get_history(thread, 1000))["messages"]
    listed = await service.list_sessions(USER)
    await service.close()
    with open(out, "w") as f:
        json.dump({"sessions": {USER: listed}, "histories": histories}, f, ensure_ascii=False, indent=1, default=str)


try:
    asyncio.run(main(*sys.argv[1:]))
except Exception:
    traceback.print_exc()
    os._exit(1)  # The connection's thread would keep the process alive.
