export const isLongForm = process.env.RESILIENCE === 'long';
