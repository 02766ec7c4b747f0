/** Duration of a claim. A request that takes longer is assumed to have died with its process. */
const CLAIM_MS = 10_000;

/** Returns true while the request or job that made a claim may still be working. */
export function isClaimActive(claimedAt: Date | null = null): boolean {
  return claimedAt !== null && claimedAt.getTime() > Date.now() - CLAIM_MS;
}
