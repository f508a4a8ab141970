import { linkPath } from '../api/sign-in/link.ts'

export const linkUrl = (serviceUrl: string, code: string): string => `${serviceUrl}${linkPath}?code=${code}`
