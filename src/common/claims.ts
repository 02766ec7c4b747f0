/** Lifetime of a claim. After this time, the request or job that made the claim is assumed to have died with its process. */
const CLAIM_MS = 10_000;

/** Returns true while a payment attempt or a refund is claimed. */
export function isClaimActive(claimedAt: Date | null = null): boolean {
  return claimedAt !== null && claimedAt.getTime() > Date.now() - CLAIM_MS;
}
