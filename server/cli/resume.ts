import type { Command } from 'commander'
import { resumeDeliveries } from '../../sql/delivery-pause.ts'
import { answer } from './answer.ts'
import { asService } from './database.ts'
import { examples } from './options.ts'

export function resumeCommand(program: Command): void {
  program
    .command('resume')
    .description(
      'Lets webhooks deliver again, which a restore has paused. They get what has waited meanwhile. `resumed` is false\n' +
        'when nothing was paused:\n{"resumed"}',
    )
    .addHelpText(...examples('resume'))
    .action(async () => answer({ resumed: await asService(resumeDeliveries) }))
}
