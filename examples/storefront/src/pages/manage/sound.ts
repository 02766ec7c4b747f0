import { create } from 'zustand';

interface Sound {
  audio: AudioContext | null;
  isAllowed: boolean;
}

/** State of the sound on this page. Browsers allow sound only after a tap, and until the page is closed. */
export const useSound = create<Sound>(() => ({ audio: null, isAllowed: false }));

/** Asks the browser to allow sound, and plays the tone. Must be called after a tap. */
export async function allowSound(): Promise<void> {
  const audio = useSound.getState().audio ?? new AudioContext();
  const update = () => useSound.setState({ audio, isAllowed: audio.state === 'running' });
  // The browser can also stop the sound, for example during a phone call.
  audio.onstatechange = update;
  // Store the context before it plays: a second tap meanwhile must not create another one.
  update();
  await audio.resume();
  update();
  beep();
}

/** Plays a short tone if the sound is allowed. */
export function beep(): void {
  const { audio, isAllowed } = useSound.getState();
  if (audio === null || !isAllowed) return;
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  volume.gain.value = 0.2;
  tone.frequency.value = 880;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.3);
}
