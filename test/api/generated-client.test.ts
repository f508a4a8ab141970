import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { repository, run } from '../support/instance.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let receiver: Receiver
let user: TestUser
let folder: string

beforeAll(async () => {
  service = await startService({ config: { egressAllow: ['127.0.0.1/32'] }, queueTickMs: 20 })
  receiver = await openReceiver()
  user = await service.user()
  folder = await mkdtemp(join(tmpdir(), 'corkboard-client-'))
})
afterAll(async () => {
  await receiver.close()
  await service.stop()
  await rm(folder, { recursive: true, force: true })
})

const fromRepository = (...path: string[]) => join(repository, ...path)

test('[OA5][OA29] a client generated from the description compiles, and does the main job', async () => {
  const description = await (await fetch(`${service.url}/api/v1/openapi.json`)).text()
  await writeFile(join(folder, 'openapi.json'), description)
  const manifest = { type: 'module', imports: { '#schema': './client/schema.ts' } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await symlink(fromRepository('node_modules'), join(folder, 'node_modules'))
  await mkdir(join(folder, 'client'))
  for (const program of ['main-job.ts', 'five-calls.ts'])
    await copyFile(fromRepository('test/client', program), join(folder, 'client', program))
  const generator = fromRepository('test/client/node_modules/openapi-typescript/bin/cli.js')
  const generated = await run(process.execPath, [
    generator,
    join(folder, 'openapi.json'),
    '-o',
    join(folder, 'client/schema.ts'),
  ])
  expect(generated).toMatchObject({ code: 0 })

  const options = {
    extends: fromRepository('tsconfig.json'),
    compilerOptions: { typeRoots: [fromRepository('node_modules/@types')] },
    include: ['client'],
    exclude: [],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options))
  const compiled = await run(process.execPath, [
    fromRepository('node_modules/typescript/bin/tsc'),
    '-p',
    join(folder, 'tsconfig.json'),
  ])
  expect(compiled).toMatchObject({ code: 0, stdout: '' })

  const ran = await run(process.execPath, [join(folder, 'client/main-job.ts')], {
    env: { ...process.env, SERVICE_URL: service.url, TOKEN: user.token, RECEIVER_URL: receiver.url },
  })
  expect(ran).toMatchObject({ code: 0 })
  const done = JSON.parse(ran.stdout)
  expect(done).toMatchObject({
    followed: done.created,
    found: [done.first],
    moved: [done.second],
    restored: ['Lighthouse at dusk'],
    isBack: true,
  })
  const types = () => receiver.received.map(({ body }) => body.type)
  await until(
    () =>
      types().includes('webhook.test') && types().includes('card.created') && types().includes('card.moved'),
    'the deliveries are there',
    20_000,
  )

  const called = await run(process.execPath, [join(folder, 'client/five-calls.ts')], {
    env: {
      ...process.env,
      SERVICE_URL: service.url,
      TOKEN: user.token,
      RECEIVER_URL: receiver.url,
      WORKSPACE: user.workspaceId,
    },
  })
  expect(called).toMatchObject({ code: 0 })
  expect(JSON.parse(called.stdout)).toEqual({
    title: 'Lighthouse',
    listed: ['Lighthouse'],
    changed: 'Lighthouse at dusk',
    isSecret: true,
    followed: ['Lighthouse at dusk'],
    removed: [],
    isExported: true,
    imported: ['valid'],
    code: 'not_found',
  })
}, 120_000)
