/** Makes the bus of this node. It is used after its `start`. */
import { randomUUID } from 'node:crypto'
import type { Logger } from '../../platform/log.ts'
import { databaseId } from '../../sql/database-id.ts'
import type { Database } from '../../sql/database.ts'
import { Bus } from './bus.ts'
import { NotifyDriver } from './notify-driver.ts'
import { RedisDriver } from './redis-driver.ts'

export interface BusOptions {
  database: Database
  /** Null: messages go over NOTIFY alone. */
  redisUrl: string | null
  log: Logger
}

export function openBus({ database, redisUrl, log }: BusOptions): Bus {
  const notify = new NotifyDriver({ database, log })
  const node = randomUUID()
  if (redisUrl === null) return new Bus({ node, drivers: [notify], log })
  const redis = new RedisDriver({ url: redisUrl, databaseId: () => databaseId(database), log })
  return new Bus({ node, drivers: [redis, notify], log })
}
