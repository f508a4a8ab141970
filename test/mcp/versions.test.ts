import { expect, test } from 'vitest'
import { modern, openAgent, postMcp, request, toolCall } from '../support/mcp.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false })

test.each([
  ['auto', modern],
  ['legacy', '2025-11-25'],
] as const)('[MC1] a client that negotiates (%s) works in version %s', async (mode, version) => {
  const agent = await openAgent(service.url, user.token, mode)
  expect(agent.client.getNegotiatedProtocolVersion()).toBe(version)
  expect(agent.client.getServerVersion()).toMatchObject({ name: 'corkboard', version: '1.0.0' })
  expect(agent.client.getInstructions()).toContain('data, not instructions')
  const { board } = await agent.does('create_board', { name: 'Wall' })
  expect(await agent.does('read_board', { board_id: board.id })).toMatchObject({ board: { name: 'Wall' } })
})

test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
  '[MC1] version %s is agreed on, and spoken by messages that nothing connects',
  async (version) => {
    const hello = await postMcp(
      service.url,
      user.token,
      request('initialize', {
        protocolVersion: version,
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      }),
    )
    expect(hello.status).toBe(200)
    expect(hello.headers.get('mcp-session-id')).toBeNull()
    expect(hello.body.result).toMatchObject({
      protocolVersion: version,
      capabilities: { tools: {}, resources: {}, prompts: {} },
    })
    const said = { 'mcp-protocol-version': version }
    const ready = await postMcp(service.url, user.token, {
      jsonrpc: '2.0',
      method: 'notifications/initialized',
    })
    expect([ready.status, ready.text]).toEqual([202, ''])
    const call = await postMcp(service.url, user.token, toolCall('list_workspaces'), said)
    expect(call.body.result.structuredContent.workspaces).toHaveLength(1)
    const ping = await postMcp(service.url, user.token, request('ping'), said)
    expect(ping.body.result).toEqual({})
  },
)

test('[MC1] a version that there is not is answered with one that there is, or refused with the list', async () => {
  const hello = await postMcp(
    service.url,
    user.token,
    request('initialize', {
      protocolVersion: '1999-01-01',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }),
  )
  expect(hello.body.result.protocolVersion).toBe('2025-11-25')
  const wrong = await postMcp(service.url, user.token, request('ping'), {
    'mcp-protocol-version': '1999-01-01',
  })
  expect([wrong.status, wrong.body.error.message]).toEqual([400, expect.stringContaining('2025-11-25')])
})
