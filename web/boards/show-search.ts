import type { Desk } from './desk.ts'

export const showSearch = ({ show }: Desk): void =>
  show(async () => (await import('./panels/search.tsx')).Search)
