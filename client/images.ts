/**
 * Returns the URL of a smaller version of an image: at most this width, never enlarged. Understands the images of the
 * service and of Cloudinary. Any other URL is returned unchanged.
 */
export function sizedImage(url: string, width: 480 | 960): string {
  if (/\/api\/images\/[^/?#]+$/.test(url)) return `${url}?w=${width}`;
  return url.replace(/^(https?:\/\/[^?#]*?\/image)\/upload\//, `$1/upload/c_limit,w_${width}/`);
}
