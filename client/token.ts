/**
 * An access token, or a function that returns one. The function is called before each use, so it should keep its token
 * and make another one shortly before that ends. `refused`: the service has refused the last token, so make a new one.
 */
export type TokenSource = string | ((given: { refused: boolean }) => string | Promise<string>)

export const readToken = async (source: TokenSource, refused = false): Promise<string> =>
  typeof source === 'string' ? source : source({ refused })
