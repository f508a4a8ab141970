const durable =
  'an edit is acknowledged when its commit is on the disk, and the peer acknowledges what is in memory.'
const written =
  'one commit checks rights, and writes the log, the index, an event, an audit entry and what is to be searched.'
const shown =
  'the change is shown when its commit is on the disk, and the commit writes more than the one row of the bare insert. The relay commits nothing.'

const elsewhere =
  'the answer waits until the other node has shown the change: a message to it, and its answer. Three measures gave 1.27 to 1.31 over NOTIFY, and 1.21 to 1.31 over Redis.'
const shared =
  'each node that follows pays about 1 ms for the message, its signature and the change in its own document, however few its observers, where an edit to 600 costs one node 11 ms. Without that change it would be 1.14 and 1.18. A bare ws with Redis grows by 1.16 and 1.22, Hocuspocus with Redis, which stores nothing, by 1.23 and 1.54.'

const busy =
  'ending the transaction, and the commit with its parts in Node and in the driver, are the same for one edit as for many.'
const document =
  'both sides have the same Y.Doc, which takes 11 to 13 times its bytes. Corkboard drops it a minute after the last edit.'

/** Why a row misses its target: one sentence each, from a profile. The bench adds it to the guide only while the row misses. */
export const reasons: Record<string, string> = {
  'a rejoin with a state vector, 4 MB':
    'each one is a whole connection, whose token and rights are read from the database. Encoding what the client lacks takes 0.006 ms of it.',
  'CPU of a lone edit': busy,
  'CPU of an edit to 10 observers': busy,
  'CPU of an edit to 100 observers': busy,
  'CPU of an awareness frame in':
    'it is 1.2 times what the floor takes for it. The ratio to the peer was 0.13 in an earlier run.',
  "a person's edit beside 50 API clients":
    'an edit waits for the commit under way, of four writes at most, then for its own, and before for the requests that one turn begins.',
  'memory of an empty open board':
    'it is a small difference of large figures, and varied from 0.6 to 2.3 KB. Socket and board together take as much as the peer.',
  'memory of an open board of 10,000 cards': document,
  '2,000 idle sockets, each second':
    'a quiet client gets an empty awareness frame every 15 s, without which the provider connects again, and its rights are compared with the database.',
  'POST of one card, 32 boards': written,
  'POST of one card, one board': written,
  'POST of 1,000 cards': written,
  "API write on a peer's screen": shown,
  'edits, 50 editors on one board, 8 in flight': durable,
  'edits, 50 boards x 2 editors, 8 in flight': durable,
  'edits, 50 editors on one board, 1 in flight': durable,
  'edits, 50 boards x 2 editors, 1 in flight': durable,
  '20 of 100 people edit at 10 edits/s: CPU of an edit':
    'at this rate a commit holds few edits, so each of them pays much of its fixed part.',
  '20 of 100 people edit at 10 edits/s: until acknowledged': durable,
  'API write of a board open on another node, NOTIFY': elsewhere,
  'API write of a board open on another node, Redis': elsewhere,
  'server CPU for each delivered frame, 2 nodes, 600 observers': shared,
  'server CPU for each delivered frame, 3 nodes, 600 observers': shared,
}
