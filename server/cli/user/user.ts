import type { Command } from 'commander'
import { addUser } from '../../../sql/accounts/accounts.ts'
import { openPasswords } from '../../../platform/secrets/passwords.ts'
import { setPassword } from '../../../sql/accounts/passwords.ts'
import { mintToken, scopes, type Scope } from '../../../sql/accounts/tokens.ts'
import { answer } from '../answer.ts'
import { asService } from '../database.ts'
import { emailOption, examples, nameOption, scopesOption, tierOption, ttlOption } from '../options.ts'
import { passwordFromStdin } from './password.ts'
import { userAccountCommands } from './account.ts'
import { userDeleteCommand } from './delete.ts'
import { userPasswordCommands } from './sign-in.ts'

interface AddOptions {
  email: string
  name: string
  tier: 'free' | 'pro'
  scopes: Scope[]
  ttlDays?: number
  passwordStdin?: true
}

export function userCommands(program: Command): void {
  const user = program.command('user').description('accounts')
  user
    .command('add')
    .description(
      'Makes an account with a personal workspace and a first token. The token is shown only once:\n' +
        '{"user_id","email","workspace_id","token","token_id"}',
    )
    .addOption(emailOption('--email <email>', 'e-mail address, which no other account may have'))
    .addOption(nameOption('display name of the account and name of its personal workspace'))
    .addOption(tierOption().default('free'))
    .addOption(scopesOption(scopes))
    .addOption(ttlOption())
    .option('--password-stdin', 'read the password of the account from standard input')
    .addHelpText(...examples('user add --email ada@example.com --name Ada --tier pro'))
    .action(async (options: AddOptions) => {
      const { email, name, tier, scopes, ttlDays } = options
      const password = options.passwordStdin ? await passwordFromStdin() : null
      const phc = password === null ? null : await openPasswords().hash(password)
      const made = await asService(async (tx) => {
        const account = await addUser(tx, { email, name, tier })
        if (phc !== null) await setPassword(tx, account.userId, phc)
        const { userId } = account
        return { ...account, ...(await mintToken(tx, { userId, name: 'command line', scopes, ttlDays })) }
      })
      answer({
        user_id: made.userId,
        email,
        workspace_id: made.workspaceId,
        token: made.token,
        token_id: made.tokenId,
      })
    })

  userPasswordCommands(user)
  userAccountCommands(user)
  userDeleteCommand(user)
}
