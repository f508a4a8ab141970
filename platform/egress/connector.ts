/** Opens connections, to permitted addresses only. */
import type { LookupFunction, Socket } from 'node:net'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { ClassifyAddress } from './addresses.ts'
import type { Resolve } from './resolve.ts'
import { addressFault, permitted, type Target } from './target.ts'

/** The rules forbid the connection. The message follows "url". */
export class RefusedError extends Error {}

/** One connection at a time; undici asks for it, and again when the one before was closed. */
export interface Connection {
  connect: buildConnector.connector
  /** It is there, and leads to a permitted address. */
  established(): boolean
  /** How often one was. */
  times(): number
  /** What came over it, in clear. */
  bytesRead(): number
  destroy(): void
}

export interface ConnectorOptions {
  classify: ClassifyAddress
  resolve: Resolve
  /** Certificates that are trusted besides the usual ones. */
  ca?: string | undefined
}

export type OpenConnection = (target: Target) => Connection

export function buildOpener({ classify, resolve, ca }: ConnectorOptions): OpenConnection {
  /** Names are judged by their addresses at the moment of connecting: what they were before says nothing. */
  const lookupFor =
    (namedOnly: boolean): LookupFunction =>
    (hostname, { all }, found) => {
      resolve(hostname.replace(/\.$/, '')).then(
        (addresses) => {
          const fault = addressFault(addresses, namedOnly, classify)
          if (fault) return found(new RefusedError(fault), '')
          const usable = permitted(addresses, namedOnly, classify)
          const answers = usable.map((address) => ({ address, family: isIP(address) }))
          if (all) found(null, answers)
          else found(null, answers[0]!.address, answers[0]!.family)
        },
        (error: NodeJS.ErrnoException) => found(error, ''),
      )
    }
  // Its own time limit is off: whoever asks for a connection destroys it when it takes too long.
  const build = (namedOnly: boolean) =>
    buildConnector({
      ...{ allowH2: false, timeout: 0, autoSelectFamily: true, lookup: lookupFor(namedOnly) },
      ...(ca ? { ca } : {}),
    } as buildConnector.BuildOptions) as (...given: Parameters<buildConnector.connector>) => Socket
  const toAny = build(false)
  const toNamed = build(true)

  return ({ hostname, namedOnly }) => {
    let socket: Socket | null = null
    let established = false
    let times = 0
    return {
      connect(where, done) {
        established = false
        // `lookup` is not asked about addresses.
        const fault = isIP(hostname) ? addressFault([hostname], namedOnly, classify) : null
        if (fault) return done(new RefusedError(fault), null)
        socket = (namedOnly ? toNamed : toAny)(where, (error, connected) => {
          if (error) return done(error, null)
          const refused = addressFault([connected!.remoteAddress ?? ''], namedOnly, classify)
          if (refused) {
            connected!.destroy()
            return done(new RefusedError(refused), null)
          }
          established = true
          times += 1
          connected!.once('close', () => (established = false))
          done(null, connected!)
        })
      },
      established: () => established,
      times: () => times,
      bytesRead: () => socket?.bytesRead ?? 0,
      destroy: () => socket?.destroy(),
    }
  }
}
