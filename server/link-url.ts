import { linkPath } from '../api/sign-in/link.ts'

/** @param next the path to which the link leads afterwards */
export const linkUrl = (serviceUrl: string, code: string, next?: string): string =>
  `${serviceUrl}${linkPath}?code=${code}${next === undefined ? '' : `&next=${next}`}`
