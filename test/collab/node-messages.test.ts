import { Writable } from 'node:stream'
import pino from 'pino'
import { expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { processFaults } from '../support/process-faults.ts'
import { serviceOfFile } from '../support/test-file.ts'

const lines: string[] = []
const log = pino(
  { level: 'warn' },
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  }),
)
const { service, user } = await serviceOfFile({ log })

const id = '0198c2c4-5a3e-7d1f-9b7a-2f6f5d1f0a11'
const odd = [
  '',
  'x',
  'null',
  '7',
  '[]',
  '{}',
  '{"kind":"hint","from":"x"}',
  '{"kind":"hint"}',
  `{"kind":"hint","from":"${id}","boards":[["${id}"]]}`,
  `{"kind":"hint","from":"${id}","boards":[["${id}",1e999]]}`,
  `{"kind":"hint","from":"${id}","boards":7}`,
  `{"v":1,"kind":"hint","from":"${id}","boards":[],"signed":7}`,
  `{"v":1,"kind":"hint","from":"${id}","boards":[],"signed":{"added":[{"board":"${id}"}],"signature":""}}`,
  `{"kind":"show","from":"${id}","board":"x","seq":-1,"ask":null}`,
  `{"kind":"show","from":"${id}"}`,
  `{"kind":"shown","from":"${id}","ask":"${id}","board":"${id}","seq":1}`,
  `{"v":2,"kind":"shown","from":"${id}","ask":"${id}","board":"${id}","seq":1}`,
  `{"v":1,"kind":"shown","from":"${id}","ask":"${id}"}`,
  `{"v":1,"kind":"awareness","from":"${id}","board":"${id}"}`,
  `{"v":1,"kind":"left","from":"${id}"}\nAAAA`,
  '{"v":1,"kind":"revoked"}\nAAAA',
  `part ${id} 1 of 9999\n{}`,
  `part ${id} 2 of 3\n{}`,
  '{"kind":"shown"}',
  '{"kind":"notified"}',
  '{"kind":"notified","rows":[[1,2]]}',
  '{"kind":"notified","rows":[["x","y"]]}',
  '{"kind":"of a newer version","from":"x"}',
  '{"__proto__":{"kind":"shown"}}',
  `{"kind":"hint","boards":${'['.repeat(3000)}`,
]

test('[L24] odd notifications are ignored, and logged rarely', async () => {
  for (const text of odd) await service.admin`select pg_notify('corkboard_nodes', ${text})`
  // In order: when the service has acted upon this one, it has seen all before it.
  const other = await service.token(user, {})
  expect((await other.api.get('/me')).status).toBe(200)
  const logged = () => lines.filter((line) => line.includes('were ignored'))
  await until(() => logged().length === service.nodes.length, 'each node has logged it')
  await service.admin`update tokens set revoked_at = now() where id = ${other.tokenId}`
  await until(async () => (await other.api.get('/me')).status === 401, 'messages are still acted upon')
  expect(processFaults()).toEqual([])
  expect(logged()).toHaveLength(service.nodes.length)
})
