/** Whether the long form of the resilience tests was asked for; CI runs the short one. */
export const isLongForm = process.env.RESILIENCE === 'long';
