/** True if the environment variable RESILIENCE is `long`: more rounds, all faults and real waiting times. */
export const isLongRun = process.env.RESILIENCE === 'long';
