/**
 * An access token, or a function that returns one. The function is called before each use, so it should keep its token
 * and make another one shortly before that ends. `refused`: the service has refused the last token, so make a new one.
 */
export type TokenSource = string | ((given: { refused: boolean }) => string | Promise<string>)

export async function readToken(source: TokenSource, refused = false): Promise<string> {
  if (typeof source === 'string') return source
  // In JavaScript it may be missing, such as a variable that is not set.
  if (typeof source !== 'function')
    throw new TypeError('Give `token`: an access token, or a function that returns one.')
  return source({ refused })
}
