import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { compress, decodeSegment, encodeSegment, type RecordedCause } from '../../collab/log/segment.ts'

const changes = { added: [], removed: [], changed: { card: ['body'] }, groups: [] }
const causesOf = (n: number, account: string): RecordedCause[] => [
  { n, by: 'editor', accounts: [account], changes },
]

test('[HI13] a segment gives back its rows: positions, times, causes, and every update byte for byte', () => {
  const row = fc.record({
    at: fc.integer({ min: 0, max: 2_000_000_000_000 }),
    account: fc.constantFrom('ada', 'ben'),
    updates: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), fc.nat(), (given, first) => {
      const rows = given.map(({ at, account, updates }, n) => ({
        ...{ seq: first + n, at, causes: causesOf(updates.length, account) },
      }))
      const updates = given.flatMap((one) => one.updates)
      const read = decodeSegment(encodeSegment(rows, updates))
      expect(read.map(({ seq, at, causes }) => ({ seq, at, causes }))).toEqual(rows)
      expect(read.map((one) => one.updates.map((update) => [...update]))).toEqual(
        given.map((one) => one.updates.map((update) => [...update])),
      )
      expect(read.map(({ bytes }) => bytes)).toEqual(
        given.map((one) => one.updates.reduce((sum, { length }) => sum + 4 + length, 0)),
      )
    }),
    { numRuns: 100 },
  )
})

test('[HI13] a thousand typed letters take less than five bytes each', () => {
  const document = new Y.Doc()
  const updates: Uint8Array[] = []
  document.on('update', (update) => updates.push(update))
  for (let n = 0; n < 1000; n++) document.getText('body').insert(n, 'abcdefghij'[n % 10]!)
  const rows = updates.map((_update, n) => ({ seq: n, at: 1e12 + n * 173, causes: causesOf(1, 'ada') }))
  expect(encodeSegment(rows, updates).byteLength / 1000).toBeLessThan(5)
})

test('[HI13] a segment of version 1 is read', () => {
  const update = Uint8Array.of(7, 8, 9)
  const rows = [
    { seq: 5, at: 1e12, bytes: 14, causes: causesOf(2, 'ada') },
    { seq: 6, at: 1e12 + 9, bytes: 7, causes: causesOf(1, 'ben') },
  ]
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 3]), update])
  const head = Buffer.from(JSON.stringify({ version: 1, rows }))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.byteLength)
  const read = decodeSegment(compress(Buffer.concat([length, head, framed, framed, framed])))
  expect(read.map(({ updates, ...row }) => ({ ...row, updates: updates.map((one) => [...one]) }))).toEqual([
    {
      ...rows[0],
      updates: [
        [7, 8, 9],
        [7, 8, 9],
      ],
    },
    { ...rows[1], updates: [[7, 8, 9]] },
  ])
  expect(() => decodeSegment(compress(Buffer.concat([length, head, framed])))).toThrow('another length')
})
