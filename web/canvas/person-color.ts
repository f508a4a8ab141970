/** White letters have a contrast of at least 4.5 on each of them. */
const colors = ['#b3261e', '#1f6f43', '#2457c5', '#8a4b00', '#7b2d8e', '#00687a', '#8c1d5a', '#4d5b00']

/** A colour for a person, the same in every window. */
export function colorOf(who: string): string {
  let sum = 0
  for (const letter of who) sum = (sum * 31 + letter.codePointAt(0)!) % 1_000_003
  return colors[sum % colors.length]!
}
