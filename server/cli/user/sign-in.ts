/** `user passwd` and `user link`: how an account gets a password. */
import { Option, type Command } from 'commander'
import { limits } from '../../../core/limits.ts'
import { openPasswords } from '../../../platform/secrets/passwords.ts'
import { AccountError, findUser } from '../../../sql/accounts/accounts.ts'
import { setPassword } from '../../../sql/accounts/passwords.ts'
import { makeLink } from '../../../sql/accounts/sign-in-links.ts'
import { readConfig, serviceUrl } from '../../config.ts'
import { linkUrl } from '../../link-url.ts'
import { findRunningUrl } from '../../running.ts'
import { answer } from '../answer.ts'
import { asService } from '../database.ts'
import { emailOption, examples, parseCount } from '../options.ts'
import { readPassword } from './password.ts'

const { default: usualHours, max: mostHours } = limits.signIn.linkHours

export function userPasswordCommands(user: Command): void {
  user
    .command('passwd')
    .description(
      'Sets the password of an account and ends its sessions. On a terminal the command asks for the password.\n' +
        'Otherwise it reads the password from standard input:\n{"user_id","email"}',
    )
    .addOption(emailOption())
    .addHelpText(
      ...examples(
        'user passwd --email ada@example.com',
        'user passwd --email ada@example.com < password.txt',
      ),
    )
    .action(async ({ email }: { email: string }) => {
      const phc = await openPasswords().hash(await readPassword())
      const userId = await asService(async (tx) => {
        const userId = await findUser(tx, email)
        await setPassword(tx, userId, phc)
        return userId
      })
      answer({ user_id: userId, email })
    })

  user
    .command('link')
    .description(
      'Makes a link for an account. Its user chooses a password there and is signed in. The link works once, and a\n' +
        'newer link replaces it:\n{"user_id","email","url","expires_at"}',
    )
    .addOption(emailOption())
    .addOption(
      new Option('--ttl-hours <hours>', `hours until the link expires, 1 to ${mostHours}`)
        .argParser((text: string) => parseCount(text, mostHours, 'hours'))
        .default(usualHours),
    )
    .addHelpText(...examples('user link --email ada@example.com'))
    .action(async ({ email, ttlHours }: { email: string; ttlHours: number }) => {
      const config = readConfig(process.env)
      const url = config.publicUrl ?? (await findRunningUrl(config.dataDir)) ?? serviceUrl(config)
      if (url === null)
        throw new AccountError(
          'The address of the service is unknown, because PORT is 0 and no instance runs. Start the service or set PUBLIC_URL.',
        )
      const { userId, code, expiresAt } = await asService(async (tx) => {
        const userId = await findUser(tx, email)
        return { userId, ...(await makeLink(tx, { userId, hours: ttlHours })) }
      })
      answer({ user_id: userId, email, url: linkUrl(url, code), expires_at: expiresAt.toISOString() })
    })
}
