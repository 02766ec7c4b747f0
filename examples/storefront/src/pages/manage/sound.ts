const listeners = new Set<() => void>();
let audio: AudioContext | undefined;

export function isSoundAllowed(): boolean {
  return audio?.state === 'running';
}

/**
 * Calls the listener when the sound becomes allowed.
 * @returns a function that removes the listener
 */
export function onSoundChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Allows the sound until the page is closed, and plays it. Browsers accept this only after a tap. */
export async function allowSound(): Promise<void> {
  audio ??= new AudioContext();
  await audio.resume();
  beep();
  for (const listener of listeners) listener();
}

/** Plays a short tone if the sound is allowed. */
export function beep(): void {
  if (!isSoundAllowed() || audio === undefined) return;
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  volume.gain.value = 0.2;
  tone.frequency.value = 880;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.3);
}
