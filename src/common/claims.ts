/** Duration of a claim. After this time, the request or job that made the claim is assumed to have died with its process. */
const CLAIM_MS = 10_000;

/** Returns true while a row is claimed: only the request or job that set its `claimedAt` may call the gateway for it. */
export function isClaimActive(claimedAt: Date | null = null): boolean {
  return claimedAt !== null && claimedAt.getTime() > Date.now() - CLAIM_MS;
}
