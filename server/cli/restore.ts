import { Option, type Command } from 'commander'
import type { LiveAccess } from '../../sql/archive/live-access.ts'
import { checkEmpty } from '../../sql/archive/load.ts'
import { checkArchive, checkRoom, openArchive, type CheckedArchive } from '../backup/check-archive.ts'
import { restore } from '../backup/restore.ts'
import { readConfig } from '../config.ts'
import { answer } from './answer.ts'
import { storeOf } from './backup.ts'
import { sizeOf } from './command.ts'
import { withServer } from './database.ts'
import { examples } from './options.ts'
import { showStages } from './stages.ts'
import { formatTable } from './table.ts'

interface RestoreOptions {
  from: string
  resume?: boolean
  revokeAll?: boolean
  json?: boolean
}

export function restoreCommand(program: Command): void {
  program
    .command('restore')
    .summary('loads an archive of `backup` into an empty database')
    .description(
      'Loads an archive of `backup` into an empty database, and stores its files. The database is that of DATABASE_URL\n' +
        '(PostgreSQL 15 or newer), or a new embedded one in DATA_DIR. Files go to the configured store. SECRET_KEY or\n' +
        'SECRET_KEY_PREVIOUS must be the key of the service that was backed up. Everything is checked first. If it fails or\n' +
        'is interrupted, the database is still empty. Webhook deliveries are paused afterwards, until `corkboard resume`.\n' +
        'Prints what lets somebody in again, also what was revoked after the backup.',
    )
    .addOption(new Option('--from <path>', 'path of the archive').makeOptionMandatory())
    .option('--resume', 'do not pause webhook deliveries')
    .option('--revoke-all', 'end all tokens, sessions, sign-in links and connected applications')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      ...examples('restore --from /backups/corkboard.tar.zst', 'restore --from db.tar.zst --revoke-all'),
    )
    .action(async (options: RestoreOptions) => {
      const stages = showStages()
      const { archive, access } = await run(options, stages).finally(() => stages.end())
      if (options.json) answer(present(options, archive, access))
      else report(options, archive, access)
    })
}

async function run(
  { from, resume = false, revokeAll = false }: RestoreOptions,
  stages: ReturnType<typeof showStages>,
): Promise<{ archive: CheckedArchive; access: LiveAccess }> {
  const given = readConfig(process.env)
  const { header, secretKey } = await openArchive(from, given)
  const config = { ...given, secretKey }
  if (config.databaseUrl) await checkEmpty(config.databaseUrl)
  const archive = await checkArchive(from, header, stages)
  await checkRoom(archive, config)
  const store = storeOf(config)
  await store.check()
  const options = { path: from, archive, store, stages, resume, revokeAll }
  const access = await withServer(({ url }) => restore({ ...options, url }))
  return { archive, access }
}

function present(options: RestoreOptions, archive: CheckedArchive, { access, sessions }: LiveAccess) {
  const { header, files } = archive
  return {
    from: options.from,
    taken_at: header.takenAt,
    tables: header.tables.length,
    files: files?.count ?? null,
    file_bytes: files?.bytes ?? null,
    missing_files: files?.missing ?? null,
    paused: !options.resume,
    revoked: options.revokeAll ?? false,
    sessions,
    access: access.map(({ kind, id, email, name, scopes, expiresAt }) => ({
      ...{ kind, id, email, name, scopes },
      expires_at: expiresAt?.toISOString() ?? null,
    })),
  }
}

function report(options: RestoreOptions, { header, files }: CheckedArchive, live: LiveAccess): void {
  const { access, sessions } = live
  const rows = access.map(({ kind, id, email, name, scopes, expiresAt }) => [
    ...[kind, email, name ?? '', scopes?.join(',') ?? '', expiresAt?.toISOString() ?? 'never', id],
  ])
  const columns = ['kind', 'account', 'name', 'scopes', 'expires', 'id']
  const count = (kind: string) => access.filter((one) => one.kind === kind).length
  const lines = [
    `Restored the moment ${header.takenAt}: ${header.tables.length} tables, ${describeFiles(files)}.`,
    `${options.revokeAll ? 'Ended' : 'These let somebody in again'}: ${count('token')} tokens, ` +
      `${count('application')} connected applications, ${count('link')} sign-in links, ` +
      `${count('guest link')} guest links, ${count('invitation')} invitations, ${sessions} sessions.`,
    options.resume
      ? 'Webhooks deliver as soon as the service runs.'
      : 'Webhook deliveries are paused. `corkboard resume` lets them go on.',
  ]
  if (rows.length > 0 && !options.revokeAll) process.stdout.write(formatTable([columns, ...rows]))
  process.stdout.write(`${lines.join('\n')}\n`)
}

function describeFiles(files: CheckedArchive['files']): string {
  if (!files) return 'without files: copy them into the file store'
  const missing = files.missing.length > 0 ? ` (${files.missing.length} were missing at the backup)` : ''
  return `${files.count} files of ${sizeOf(files.bytes)}${missing}`
}
