/** An MCP server of one tool, which adds. */

export const SUMS_SERVER: string = `import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get('method')
    if method == 'initialize': result = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'x', 'version': '1'}}
    elif method == 'tools/list': result = {'tools': [{'name': 'add', 'description': 'Adds.', 'inputSchema': {'type': 'object', 'properties': {'a': {'type': 'number'}, 'b': {'type': 'number'}}}}]}
    elif method == 'tools/call': result = {'content': [{'type': 'text', 'text': 'the sum is %d' % (message['params']['arguments']['a'] + message['params']['arguments']['b'])}]}
    else: continue
    print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)
`
