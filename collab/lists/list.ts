/**
 * A live list on a socket: what changes about the boards that an account sees, as stateless messages. It has no document.
 *
 *   {"type":"ready","id":"…"}                                 what comes after this event follows
 *   {"type":"position","id":"…"}                              from time to time: the newest id to resume from
 *   {"type":"resumed","id":"…"}                               the answer to `resume`: all events after this one follow
 *   {"type":"reset","id":"…"}                                 the other answer: events are missing, read anew
 *   {"type":"event","id":"…","event":{…}}                     the same JSON as the event of `GET /events`
 *   {"type":"people","boards":{"<id>":2},"all":true}          how many people are on boards
 *   {"type":"notification","notification":{…}}                as on the sockets of boards
 *
 * A client resumes with {"type":"resume","id":"…"}.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { closeCodes } from '../../core/errors.ts'
import { listEventTypes } from '../../core/events.ts'
import type { Follower, Reader, StreamFilter } from '../events/follower.ts'
import type { EventMessage } from '../events/messages.ts'
import { eventId, type Position } from '../events/position.ts'
import { statelessFrame, workspaceOf } from '../gateway/protocol.ts'
import type { ListPlace } from '../gateway/seating.ts'
import type { EditorSocket } from '../gateway/socket.ts'

/** A list gets no more while so many bytes wait for its client to read them. */
const roomBytes = 64 * 1024
/** How often a list looks whether its client has read. */
const lookMs = 100

export interface ListOptions {
  address: string
  reader: Reader
  payer: string | null
  socket: EditorSocket
}

export class List implements Follower, ListPlace {
  readonly address: string
  readonly workspace: string | undefined
  readonly payer: string | null
  readonly wanted: StreamFilter
  readonly isList = true
  readonly socket: EditorSocket
  readonly reader: Reader
  position: Position = { at: new Date(0), place: 0 }
  /** The stage of the list: a client asks for it, gets it, and may resume once. */
  stage: 'authenticated' | 'open' | 'resumed' | 'over' = 'authenticated'
  /** Takes it from the socket. Set when it is added. */
  end: () => void = () => undefined
  /** Whether its next counts of people have to name all boards. */
  owesPeople = true

  constructor({ address, reader, payer, socket }: ListOptions) {
    this.address = address
    this.workspace = workspaceOf(address)
    this.reader = reader
    this.payer = payer
    this.socket = socket
    this.wanted = { workspace: this.workspace, types: listEventTypes }
  }

  get account(): string {
    return this.reader.account
  }

  get isOver(): boolean {
    return this.stage === 'over' || this.socket.readyState !== WebSocket.OPEN
  }

  get unreadBytes(): number {
    return this.socket.unreadBytes
  }

  get hasRoom(): boolean {
    return this.unreadBytes < roomBytes
  }

  /** Tells the client up to where it knows all events. */
  say(type: 'ready' | 'resumed' | 'reset' | 'position'): void {
    this.tell(JSON.stringify({ type, id: eventId(this.position) }))
  }

  send(message: EventMessage): void {
    if (message.type.startsWith('access.')) this.owesPeople = true
    this.socket.send(message.as(this.address, () => statelessFrame(this.address, textOf(message))))
  }

  tell(text: string): void {
    if (!this.isOver) this.socket.send(statelessFrame(this.address, text))
  }

  /**
   * Sends the counts of the boards that its reader may see.
   *
   * @param all whether these are all: every other board has nobody
   */
  tellPeople(counts: [board: string, people: number][], all: boolean): void {
    if (counts.length > 0 || all)
      this.tell(JSON.stringify({ type: 'people', boards: Object.fromEntries(counts), all }))
  }

  /** The gateway keeps the socket open. The client learns a position to resume from. */
  keepAlive(): void {
    if (this.hasRoom && this.stage !== 'authenticated') this.say('position')
  }

  async room(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (!this.hasRoom && !this.isOver && performance.now() < until) await delay(lookMs)
  }

  /** A stop of the service closes all sockets by itself. */
  finish(why: 'access' | 'stop'): void {
    this.stage = 'over'
    if (why === 'access') this.socket.close(closeCodes.forbidden.code, closeCodes.forbidden.reason)
  }

  cutOff(why: 'slow' | 'fault'): void {
    this.stage = 'over'
    const { code, reason } = why === 'slow' ? closeCodes.tooSlow : closeCodes.tryLater
    this.socket.close(code, reason)
    if (why === 'slow') this.socket.terminate() // the close frame would wait behind the unread data
  }
}

const textOf = ({ id, payload }: EventMessage): string => `{"type":"event","id":"${id}","event":${payload}}`
