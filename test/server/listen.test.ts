/** `corkboard listen`: events of a service for a program on the developer's machine. */
import { spawn } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/editor.ts'
import { repository } from '../support/instance.ts'
import { lineTo } from '../support/balancers.ts'
import { openReceiver } from '../support/receiver.ts'
import { forFile, serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ queueTickMs: 100 })
const receiver = await forFile(openReceiver())

/** Runs the command until the end of the test. */
function listen(url: string, token: string) {
  const given = ['server/cli/main.ts', 'listen', '--url', url, '--forward-to', `${receiver.url}/hook`]
  const child = spawn(process.execPath, [...given, '--workspace', user.workspaceId], {
    cwd: repository,
    env: { ...process.env, CORKBOARD_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    lines: (): any[] =>
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    stderr: () => stderr,
    ended,
  }
}

const newBoard = async (name: string): Promise<string> =>
  (await user.api.post('/boards', { name })).body.board.id
const deliveriesOf = (boardId: string) => receiver.received.filter(({ body }) => body.board?.id === boardId)

test(
  '[SE11] listen delivers as a webhook does, tries again, and resumes after a lost connection',
  { timeout: 60_000 },
  async () => {
    const line = await lineTo(Number(new URL(service.homeUrl).port))
    const command = listen(`http://127.0.0.1:${line.port}`, user.token)
    await until(() => command.lines().length > 0, 'it listens', 30_000)
    const { secret } = command.lines()[0]
    expect(secret).toMatch(/^whsec_/)
    await until(() => service.eventStreams.count === 1, 'it is connected', 30_000)
    let isDown = true
    receiver.answer = () => (isDown ? ((isDown = false), 500) : 204)
    const first = await newBoard('First')
    await until(() => deliveriesOf(first).length === 2, 'it was tried again', 10_000)
    for (const { raw, headers } of deliveriesOf(first))
      expect(new Webhook(secret).verify(raw, headers as never)).toMatchObject({ type: 'board.created' })
    expect(new Set(deliveriesOf(first).map(({ deliveryId }) => deliveryId)).size).toBe(1)
    await until(() => command.lines().length === 3, 'both attempts are told')
    expect(command.lines().slice(1)).toMatchObject([
      { event: 'board.created', attempt: 1, status: 500 },
      { event: 'board.created', attempt: 2, status: 204 },
    ])
    line.drop()
    const second = await newBoard('Second')
    await until(() => deliveriesOf(second).length === 1, 'it has resumed', 20_000)
    expect(command.stderr()).toContain('Connecting again.')
    expect(deliveriesOf(first)).toHaveLength(2)
    await service.admin`update tokens set revoked_at = now() where id = ${user.tokenId}`
    expect(await command.ended).toBe(1)
    expect(command.stderr()).toContain('The service refuses the stream: The access token is')
    await line.cut()
  },
)
