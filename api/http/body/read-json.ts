/**
 * Reads and parses JSON bodies. The limits are checked while a body arrives. A large body waits in a queue before it is
 * read; before that, the route can refuse it.
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { badRequest, ServiceError } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'
import type { LargeBodies } from './large-bodies.ts'
import { parseLarge, parseSmall, textOf } from './parse.ts'
import { BodyScan } from './scan.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** On routes that accept large bodies. Null on all others. */
    largeBody: LargeBodyTurn | null
  }
}

/** Refuses a request, by rights and quotas, before its body is read. */
export type RefuseEarly = (request: FastifyRequest) => Promise<void>

/**
 * Makes a fastify scope accept only JSON bodies. An empty body counts as no body, whatever its content type.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.decorateRequest('largeBody', null)
  app.addContentTypeParser('application/json', (request, payload, done) => {
    new BodyReader(request, payload, done).start()
  })
}

/** A hook for routes whose bodies may be large. It must run before the body is read. */
export const takesLargeBody =
  (bodies: LargeBodies, refuseEarly: RefuseEarly) =>
  (request: FastifyRequest, reply: FastifyReply): void => {
    request.largeBody = new LargeBodyTurn(bodies, request, reply, () => refuseEarly(request))
  }

/**
 * The queue slot of a large body: taken before the body is read, released after the answer and the end of the handler.
 */
export class LargeBodyTurn {
  readonly #bodies: LargeBodies
  readonly #account: string
  readonly #refuseEarly: () => Promise<void>
  #release: (() => void) | null = null
  #isClosed = false
  #users = 0

  constructor(
    bodies: LargeBodies,
    request: FastifyRequest,
    reply: FastifyReply,
    refuseEarly: () => Promise<void>,
  ) {
    this.#bodies = bodies
    this.#account = request.principal!.userId
    this.#refuseEarly = refuseEarly
    reply.raw.once('close', () => {
      this.#isClosed = true
      this.#releaseUnused()
    })
  }

  /** @throws ServiceError */
  async begin(bytes: number): Promise<void> {
    await this.#refuseEarly()
    if (this.#isClosed) throw new Error('The client has disconnected.')
    this.#release = await this.#bodies.take(this.#account, bytes)
    this.#releaseUnused()
  }

  /** Runs work that uses the body. The slot is kept until the work ends, even if the client has disconnected. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#users += 1
    try {
      return await work()
    } finally {
      this.#users -= 1
      this.#releaseUnused()
    }
  }

  #releaseUnused(): void {
    if (this.#isClosed && this.#users === 0) this.#release?.()
  }
}

class BodyReader {
  readonly #request: FastifyRequest
  readonly #payload: IncomingMessage
  readonly #done: (error: Error | null, body?: unknown) => void
  readonly #limitBytes: number
  readonly #scan = new BodyScan()
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #hasTurn: boolean
  #timer: NodeJS.Timeout | undefined

  constructor(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: (error: Error | null, body?: unknown) => void,
  ) {
    this.#request = request
    this.#payload = payload
    this.#done = done
    this.#limitBytes = request.routeOptions.bodyLimit
    this.#hasTurn = this.#limitBytes <= limits.largeBodies.fromBytes
  }

  start(): void {
    const { 'content-length': length, 'content-encoding': encoding } = this.#request.headers
    if (encoding && encoding.toLowerCase() !== 'identity') return this.#done(encoded(encoding))
    const declared = Number(length ?? 0)
    if (declared > this.#limitBytes) return this.#done(tooLarge(this.#limitBytes))
    const read = () => {
      this.#payload.on('data', this.#onData)
      this.#payload.on('end', this.#onEnd)
      this.#payload.on('error', this.#onError)
      this.#payload.resume()
    }
    if (this.#hasTurn || declared <= limits.largeBodies.fromBytes) read()
    else this.#takeTurn(declared).then(read, this.#end)
  }

  /** A body without a content-length takes as many bytes as the route allows. */
  async #takeTurn(bytes: number): Promise<void> {
    this.#hasTurn = true
    const { largeBody } = this.#request
    if (!largeBody) return
    await largeBody.begin(bytes)
    this.#timer = setTimeout(() => {
      const seconds = limits.largeBodies.arriveMs / 1000
      this.#end(badRequest(`The body did not arrive within ${seconds} seconds. Send fewer cards at once.`))
    }, limits.largeBodies.arriveMs)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length
    if (this.#bytes > this.#limitBytes) return this.#end(tooLarge(this.#limitBytes))
    try {
      this.#scan.push(chunk)
    } catch (error) {
      return this.#end(error as Error)
    }
    this.#chunks.push(chunk)
    if (this.#hasTurn || this.#bytes <= limits.largeBodies.fromBytes) return
    this.#payload.pause()
    this.#takeTurn(this.#limitBytes).then(() => this.#payload.resume(), this.#end)
  }

  readonly #onEnd = (): void => {
    const end = this.#end
    try {
      if (this.#bytes === 0) return end(null)
      if (this.#scan.isSmall) return end(null, parseSmall(textOf(this.#chunks)))
      this.#scan.end()
    } catch (error) {
      return end(error as Error)
    }
    const parse = () => parseLarge(this.#chunks, this.#scan)
    const { largeBody } = this.#request
    const parsed = largeBody ? largeBody.during(parse) : parse()
    parsed.then((body) => end(null, body), end)
  }

  readonly #onError = (cause: Error): void => {
    this.#end(badRequest('The connection closed before the end of the body.', { cause }))
  }

  readonly #end = (error: Error | null, body?: unknown): void => {
    clearTimeout(this.#timer)
    this.#payload.off('data', this.#onData)
    this.#payload.off('end', this.#onEnd)
    this.#payload.off('error', this.#onError)
    if (error === null || this.#payload.readableEnded || this.#payload.destroyed) this.#done(error, body)
    else this.#refuse(error)
  }

  /**
   * Drops the rest of the body, and answers when the client has stopped sending or after some seconds. A client whose
   * connection is closed while it sends would lose the answer.
   */
  #refuse(error: Error): void {
    this.#chunks.length = 0
    const answer = () => {
      clearTimeout(idle)
      clearTimeout(longest)
      this.#payload.off('data', onData)
      this.#payload.off('close', answer)
      this.#done(error)
    }
    let idle = setTimeout(answer, refusal.idleMs)
    const onData = () => {
      clearTimeout(idle)
      idle = setTimeout(answer, refusal.idleMs)
    }
    const longest = setTimeout(answer, refusal.longestMs)
    this.#payload.on('error', () => undefined)
    this.#payload.on('close', answer)
    this.#payload.on('data', onData)
    this.#payload.resume()
  }
}

const refusal = { idleMs: 250, longestMs: 5000 }

const encoded = (encoding: string) =>
  new ServiceError(
    'unsupported_media_type',
    `The body must be sent as it is, without content-encoding ${encoding.slice(0, 100)}.`,
  )

const tooLarge = (limitBytes: number) =>
  new ServiceError(
    'payload_too_large',
    `The body must be at most ${limitBytes / 1024 / 1024} MB. Send less in one request.`,
  )
