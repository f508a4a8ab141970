import type { Command } from 'commander'
import { openEncryption } from '../../platform/secrets/encryption.ts'
import { replaceCanary } from '../../sql/secret-canary.ts'
import { rotateSecrets } from '../../workers/upkeep/rotate-secrets.ts'
import { readConfig, secretKeysOf } from '../config.ts'
import { canaryText, checkSecretKey, resolveSecretKey } from '../secret-key.ts'
import { showCommand } from './command.ts'
import { withDatabase } from './database.ts'
import { showProgress } from './progress.ts'

export function secretCommands(program: Command): void {
  const secret = program.command('secret').description('the key that encrypts secrets')
  showCommand(secret, {
    name: 'rotate',
    description:
      'Encrypts everything in the database with SECRET_KEY that is encrypted with SECRET_KEY_PREVIOUS. The service may\n' +
      'run. The command can be interrupted and repeated. docs/operations.md says when to run it:\n' +
      '{"rotated":{"webhooks.secret",…},"unreadable"}',
    examples: ['secret rotate', 'secret rotate --json'],
    async run() {
      const config = readConfig(process.env)
      const secretKeys = secretKeysOf({ ...config, secretKey: await resolveSecretKey(config) })
      return withDatabase(async (database) => {
        await checkSecretKey(database, secretKeys)
        const progress = showProgress('values')
        const done = await rotateSecrets(database, secretKeys, (count) => progress.step(count))
        progress.end()
        const canary = openEncryption(secretKeys, 'canary').seal(canaryText, canaryText)
        await database.asSystem((tx) => replaceCanary(tx, canary))
        return { ...done }
      })
    },
  })
}
