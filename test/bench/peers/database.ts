import postgres from 'postgres'

const database = 'corkboard_bench'

export interface BenchDatabase {
  url: string
  drop(): Promise<void>
}

/** Creates a separate database for the insert handler. The role in `adminUrl` must be allowed to create databases. */
export async function createBenchDatabase(adminUrl: string): Promise<BenchDatabase> {
  const drop = () => onServer(adminUrl, `drop database if exists ${database} with (force)`)
  await drop()
  await onServer(adminUrl, `create database ${database}`)
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return { url: url.href, drop }
}

async function onServer(adminUrl: string, statement: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
