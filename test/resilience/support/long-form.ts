/** More rounds and more callers, for releases: RESILIENCE=long. */
export const isLongForm = process.env.RESILIENCE === 'long';
