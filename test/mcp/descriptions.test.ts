/** What an agent has in its context all the time: the list of tools. */
import { expect, test } from 'vitest'
import { tools } from '../../api/mcp/tools.ts'
import { postMcp, request } from '../support/mcp.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ workers: false })
const answer = await postMcp(service.url, user.token, request('tools/list'))
const listed: Listed[] = answer.body.result.tools

interface Listed {
  name: string
  description: string
  inputSchema: Schema
  outputSchema?: Schema
}

interface Schema {
  type?: unknown
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
}

/** Each field of a schema, at any depth, by its path. */
const fieldsOf = ({ properties = {}, items }: Schema, path = ''): [string, Schema][] => [
  ...(items ? fieldsOf(items, `${path}[]`) : []),
  ...Object.entries(properties).flatMap(([name, field]): [string, Schema][] => [
    [`${path}.${name}`, field],
    ...fieldsOf(field, `${path}.${name}`),
  ]),
]

const parameters = listed.flatMap(({ name, inputSchema }) => fieldsOf(inputSchema, name))
const results = listed.flatMap(({ name, outputSchema = {} }) => fieldsOf(outputSchema, `${name} →`))

test('[MC40] every tool and every parameter has a description of 15 characters or more', () => {
  const isShort = (description = '') => description.length < 15
  expect(listed.filter(({ description }) => isShort(description)).map(({ name }) => name)).toEqual([])
  expect(parameters.length).toBeGreaterThan(100)
  expect(parameters.filter(([, { description }]) => isShort(description)).map(([path]) => path)).toEqual([])
})

test('[MC40] a result that is described is described in 15 characters or more, too', () => {
  const short = results.filter(([, { description }]) => description !== undefined && description.length < 15)
  expect(short.map(([path]) => path)).toEqual([])
})

test('[MC41] the list of all tools has less than 32,000 bytes', () => {
  expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
  expect(listed).toHaveLength(27)
  expect(Buffer.byteLength(answer.text)).toBeLessThan(32_000)
})

test('[MC42] wherever a schema has x and y, it says that they are pixels, of which corner, and which way they grow', () => {
  const says = { x: /left edge.*pixels.*right/i, y: /top edge.*pixels.*downwards/i }
  for (const [name, pattern] of Object.entries(says)) {
    const places = [...parameters, ...results].filter(([path]) => path.endsWith(`.${name}`))
    expect(places.length).toBeGreaterThan(3)
    for (const [path, { description }] of places)
      expect([path, description]).toEqual([path, expect.stringMatching(pattern)])
  }
  const sizes = [...parameters, ...results].filter(([path]) => /\.[wh]$/.test(path))
  for (const [path, { description }] of sizes)
    expect([path, description]).toEqual([path, expect.stringContaining('pixels')])
})

test('[MC43] a parameter has one type, and no schema has a reference or a union', () => {
  for (const [path, { type }] of parameters) expect([path, typeof type]).toEqual([path, 'string'])
  for (const [path, { type }] of results) expect([path, Array.isArray(type)]).toEqual([path, false])
  const unread = /"(\$ref|\$defs|definitions|anyOf|oneOf|allOf|const)":/
  for (const { name, inputSchema } of listed)
    expect([name, unread.exec(JSON.stringify(inputSchema))?.[0]]).toEqual([name, undefined])
})
