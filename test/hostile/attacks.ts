/** Every attack. */
import { boardAttacks } from './attacks/boards.ts'
import { bodyAttacks } from './attacks/bodies.ts'
import { crowdAttacks } from './attacks/crowds.ts'
import { databaseAttacks } from './attacks/database.ts'
import { fileAttacks } from './attacks/files.ts'
import { listAttacks } from './attacks/lists.ts'
import { socketAttacks } from './attacks/sockets.ts'
import { strangerAttacks } from './attacks/strangers.ts'
import { textAttacks } from './attacks/texts.ts'
import { yjsAttacks } from './attacks/yjs.ts'
import type { Attack } from './attack.ts'

export const attacks: Attack[] = [
  ...textAttacks,
  ...yjsAttacks,
  ...bodyAttacks,
  ...socketAttacks,
  ...crowdAttacks,
  ...fileAttacks,
  ...databaseAttacks,
  ...strangerAttacks,
  ...listAttacks,
  ...boardAttacks,
].sort((a, b) => a.point - b.point)
