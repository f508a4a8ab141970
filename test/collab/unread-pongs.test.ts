import type { Socket } from 'node:net'
import { test } from 'vitest'
import { until } from '../support/editor.ts'
import { enter } from '../support/raw-client.ts'
import { serviceOfFile } from '../support/test-file.ts'

/** So many pings are answered that the kernel's own buffers, which hold megabytes, are soon full. */
const frameRate = { perSecond: 1_000_000, burst: 1_000_000 }
const { service, user } = await serviceOfFile({ bounds: { maxUnreadBytes: 500_000, frameRate } })

test('[X23] answers to pings that are not read count as well', async () => {
  const boardId: string = (await user.api.post('/boards', { name: 'Target' })).body.board.id
  const { socket } = await enter(service.url, { boardId, token: user.token })
  const { _socket: stream } = socket as unknown as { _socket: Socket }
  stream.pause()
  const filler = Buffer.alloc(125)
  const flood = setInterval(() => {
    for (let n = 0; n < 2000; n++) socket.ping(filler, true, () => undefined)
  }, 5)
  await until(() => service.counts().sockets === 0, 'it is closed', 20_000)
  clearInterval(flood)
})
