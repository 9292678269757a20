"""Drives an MCP server with Python's `mcp` package: a plan as JSON in the first argument, what happened as JSON on stdout."""

import asyncio
import json
import sys

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

plan = json.loads(sys.argv[1])
asked: list[str] = []


async def answer(_context, params):
    asked.append(params.message)
    return types.ElicitResult(action="accept", content={"answer": plan["answer"]})


def text(result) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


async def use(target) -> dict:
    mode = "legacy" if plan["era"] == "handshake" else "2026-07-28"
    async with Client(target, mode=mode, elicitation_callback=answer) as client:
        tools = await client.list_tools()
        results = []
        for call in plan["calls"]:
            results.append(text(await client.call_tool(call["name"], call["arguments"])))
        found = {"revision": client.protocol_version, "tools": [tool.name for tool in tools.tools], "results": results}
        if plan.get("prompt"):
            prompt = await client.get_prompt(plan["prompt"])
            found["prompt"] = prompt.messages[0].content.text
        if plan.get("resource"):
            resource = await client.read_resource(plan["resource"])
            found["resource"] = resource.contents[0].text
        return {**found, "asked": asked}


async def main() -> None:
    target = plan["target"]
    if "url" in target:
        headers = {"Authorization": f"Bearer {target['token']}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            found = await use(streamable_http_client(target["url"], http_client=http))
    else:
        parameters = StdioServerParameters(
            command=target["command"], args=target["args"], env=target["env"], cwd=target["cwd"]
        )
        found = await use(parameters)
    print(json.dumps(found))


asyncio.run(main())
