/** Why a row misses its target: one sentence each, from a profile. The bench adds it to the guide only while the row misses. */
export const reasons: Record<string, string> = {}
