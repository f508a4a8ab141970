import { parseUpdateMeta } from 'yjs'
import { editStream, type EditStream } from './edits.ts'
import { openEditors, type EditorSocket } from './editor.ts'
import type { RelayJob, Throughput } from './jobs.ts'
import { MeasuredWindow } from './window.ts'

/** More than any server processed from one of many editors. */
const preparedPerSecond = 2_000

/** Every editor sends an edit, waits until it is complete, and sends the next. */
export async function relay(job: RelayJob): Promise<Throughput> {
  for (let index = 0; index < job.editorsPerBoard; index++) {
    editStream(job.firstEditor + index).prepare(Math.ceil(job.seconds * preparedPerSecond))
  }
  const sockets = await openEditors(job.server, job.boards, job.editorsPerBoard)
  const window = new MeasuredWindow(job.seconds)
  try {
    const boards = job.boards.map((_, index) =>
      sockets.slice(index * job.editorsPerBoard, (index + 1) * job.editorsPerBoard),
    )
    const editors = boards.flatMap((board) => connectEditors(board, job, window))
    await Promise.race([Promise.all(editors.map((editor) => editor.finished)), window.stalled])
    return window.result()
  } finally {
    window.close()
    for (const socket of sockets) socket.close()
  }
}

function connectEditors(sockets: EditorSocket[], job: RelayJob, window: MeasuredWindow): Editor[] {
  const editors = sockets.map(
    (socket, index) => new Editor(socket, editStream(job.firstEditor + index), job, window),
  )
  if (job.done !== 'acknowledged') {
    // One witness for all others, and one for the witness: decoding at every socket what 50 editors
    // sent would cost the load more than the servers' work.
    const [witness, other] = editors
    if (!witness || !other)
      throw new Error('a relay needs another editor to receive it: open two on each board')
    witness.watch(editors.slice(1))
    other.watch([witness])
  }
  for (let n = 0; n < job.inFlight; n++) for (const editor of editors) editor.sendNext()
  return editors
}

class Editor {
  readonly finished: Promise<void>
  private readonly finishing = Promise.withResolvers<void>()
  private readonly socket: EditorSocket
  private readonly stream: EditStream
  private readonly window: MeasuredWindow
  private readonly needsAcknowledgement: boolean
  private readonly needsRelay: boolean
  private nextIndex = 0
  /** Those in flight, the oldest first: acknowledgements and relays keep their order. */
  private readonly inFlight: {
    clockAfter: number
    sentMs: number
    acknowledged: boolean
    relayed: boolean
  }[] = []

  constructor(socket: EditorSocket, stream: EditStream, job: RelayJob, window: MeasuredWindow) {
    this.socket = socket
    this.stream = stream
    this.window = window
    this.needsAcknowledgement = job.done !== 'relayed'
    this.needsRelay = job.done !== 'acknowledged'
    this.finished = this.finishing.promise
    this.finished.catch(() => {})
    socket.onFailure = (error) => this.finishing.reject(error)
    socket.onAcknowledged = () => {
      const edit = this.inFlight.find(({ acknowledged }) => !acknowledged)
      if (edit) edit.acknowledged = true
      this.checkDone()
    }
  }

  watch(others: Editor[]): void {
    this.socket.onUpdate = (update) => {
      const clocks = parseUpdateMeta(update).to
      for (const other of others) other.seen(clocks)
    }
  }

  sendNext(): void {
    const edit = this.stream.at(this.nextIndex++)
    this.inFlight.push({
      clockAfter: edit.clockAfter,
      sentMs: performance.now(),
      acknowledged: !this.needsAcknowledgement,
      relayed: !this.needsRelay,
    })
    this.socket.sendUpdate(edit.update)
  }

  private seen(clocks: Map<number, number>): void {
    const clock = clocks.get(this.stream.clientId) ?? 0
    for (const edit of this.inFlight) if (edit.clockAfter <= clock) edit.relayed = true
    this.checkDone()
  }

  private checkDone(): void {
    // Nothing is in flight if the row does not wait for acknowledgements.
    while (this.inFlight[0]?.acknowledged && this.inFlight[0].relayed) {
      const { sentMs } = this.inFlight.shift()!
      if (this.window.done(sentMs, performance.now())) this.sendNext()
      else this.finishing.resolve()
    }
  }
}
