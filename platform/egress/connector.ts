/** Opens connections, only to permitted addresses. */
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { ClassifyAddress } from './addresses.ts'
import type { Resolve } from './resolve.ts'
import { addressFault, permitted, type Target } from './target.ts'

/** The address rules forbid the connection. The message continues a sentence that begins with "url". */
export class RefusedError extends Error {}

/** The connection of one undici client. undici calls `connect` again after the previous connection was closed. */
export interface Connection {
  connect: buildConnector.connector
  /** True while the connection is open. Its address is then permitted. */
  established(): boolean
  /** Number of connections established so far. */
  times(): number
  /** Bytes received, after decryption. */
  bytesRead(): number
  destroy(): void
}

export interface ConnectorOptions {
  classify: ClassifyAddress
  resolve: Resolve
  /** Certificates to trust in addition to the system's. */
  ca?: string | undefined
}

export type OpenConnection = (target: Target) => Connection

export function buildOpener({ classify, resolve, ca }: ConnectorOptions): OpenConnection {
  /**
   * Checks a name's addresses when it connects. An earlier check proves nothing, because the addresses may have
   * changed.
   */
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
  // undici's own timeout is off. The caller destroys a connection that takes too long.
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
        // Node calls `lookup` only for names, so addresses are checked here.
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
