import type { Sql } from 'postgres'
import postgres from '../driver.ts'

/** Seconds without an answer after which the connection counts as lost. A large table takes long to index. */
const silentSeconds = 60 * 60

/**
 * Opens one connection, as the owner of the tables, without the time limits of the service: a backup reads for as long
 * as it takes, and a restore waits for the file store meanwhile. Values have the same text on every server.
 */
export const connect = (url: string, name: string): Sql =>
  postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connect_timeout: 10,
    answer_timeout: silentSeconds,
    connection: {
      application_name: name,
      search_path: 'corkboard',
      timezone: 'UTC',
      datestyle: 'ISO, YMD',
      intervalstyle: 'iso_8601',
      bytea_output: 'hex',
      extra_float_digits: 3,
      statement_timeout: 0,
      lock_timeout: 0,
      idle_in_transaction_session_timeout: 0,
    },
  })
