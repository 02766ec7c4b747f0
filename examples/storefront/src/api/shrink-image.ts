/** Maximum width and height in pixels. The service would shrink a larger image. */
const MAX_SIDE = 2_000;
const QUALITY = 0.9;
/** Small files in a format that the service accepts are sent unchanged. */
const MAX_UNCHANGED_BYTES = 1024 * 1024;

/**
 * Returns a small PNG or JPEG unchanged: the service removes its metadata. Turns any other photo that the browser can decode into a
 * JPEG of at most 2,000 pixels, upright and without metadata such as the place.
 * @returns null if the browser cannot decode or convert the file
 */
export async function shrinkImage(file: File): Promise<File | null> {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (bitmap === null) return null;
  try {
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
    const isAccepted = /\.(png|jpe?g)$/i.test(file.name) && (await isPngOrJpeg(file));
    if (isAccepted && scale === 1 && file.size <= MAX_UNCHANGED_BYTES) return file;
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    const context = canvas.getContext('2d');
    if (context === null) return null;
    // JPEG has no transparency. Without this, transparent parts would be black.
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', QUALITY));
    const name = file.name.replace(/\.\w+$/, '');
    return blob && new File([blob], `${name}.jpg`, { type: 'image/jpeg' });
  } finally {
    bitmap.close();
  }
}

/** Returns true if the file starts as a PNG or JPEG. The extension can be wrong, for example after a download. */
async function isPngOrJpeg(file: File): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return (first === 0x89 && second === 0x50) || (first === 0xff && second === 0xd8);
}
