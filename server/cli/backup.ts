import { Option, type Command } from 'commander'
import { systemClock } from '../../platform/clock.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import { backUp } from '../backup/back-up.ts'
import { readConfig, secretKeysOf, type Config } from '../config.ts'
import { checkSecretKey, resolveSecretKey } from '../secret-key.ts'
import { openStorage } from '../storage.ts'
import { answer } from './answer.ts'
import { withDatabase } from './database.ts'
import { examples } from './options.ts'
import { showStages } from './stages.ts'

interface BackupOptions {
  to: string
  files: boolean
}

export function backupCommand(program: Command): void {
  program
    .command('backup')
    .summary('writes the database and the files into an archive')
    .description(
      'Writes one moment of the database, and the files, into an archive. The service may run meanwhile. The archive is\n' +
        'a tar that zstd compressed. Only its owner may read it. Keep SECRET_KEY apart from it: a restore needs both.\n' +
        '{"path","bytes","taken_at","tables","files","file_bytes","missing_files"}',
    )
    .addOption(
      new Option(
        '--to <path>',
        'path of the archive, which must not exist, such as corkboard.tar.zst',
      ).makeOptionMandatory(),
    )
    .option('--without-files', 'leave out the files, such as those of a bucket with versions of its own')
    .addHelpText(
      ...examples('backup --to /backups/corkboard.tar.zst', 'backup --to db.tar.zst --without-files'),
    )
    .action(async ({ to, withoutFiles }: { to: string; withoutFiles?: true }) =>
      answer(await backup({ to, files: !withoutFiles })),
    )
}

async function backup({ to, files }: BackupOptions): Promise<Record<string, unknown>> {
  const stages = showStages()
  const made = await withDatabase(async (database, { url }) => {
    const given = readConfig(process.env)
    const config = { ...given, secretKey: await resolveSecretKey(given) }
    await checkSecretKey(database, secretKeysOf(config)) // an archive whose key nobody has is worth nothing
    const store = files ? storeOf(config) : null
    return backUp({ path: to, url, database, store, stages })
  }).finally(() => stages.end())
  return {
    path: to,
    bytes: made.bytes,
    taken_at: made.head.takenAt,
    tables: made.head.tables.length,
    files: made.files?.count ?? null,
    file_bytes: made.files?.bytes ?? null,
    missing_files: made.files?.missing ?? null,
  }
}

/** Opens the configured file store. */
export function storeOf(config: Config): ObjectStore {
  const log = { warn: () => undefined } // the only warning concerns multipart uploads, which a command never takes
  return openStorage(config, { clock: systemClock, publicUrl: () => '', log }).store
}
