/**
 * Most pixels of a picture, those of all frames of an animation together. Cameras of today make up to 50 megapixels
 * in a file of 5 MiB, and whoever shows the picture has to hold 4 bytes for each: 200 MB here.
 */
export const MAX_PIXELS = 50_000_000;

/** @returns whether dimensions are those of a picture that can be shown */
export function isShowable(width: number, height: number): boolean {
  return width > 0 && height > 0 && width * height <= MAX_PIXELS;
}
