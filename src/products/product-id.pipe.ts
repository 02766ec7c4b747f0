import { Injectable, type PipeTransform } from '@nestjs/common';
import { isId } from '../common/validation/ids.js';

/**
 * Parses the id of a product in a path. A text that is not an id becomes 0, which is the id of no product. The pipe does not
 * throw a 404 itself, because invalid fields (400) are reported before an unknown product (404).
 */
@Injectable()
export class ProductIdPipe implements PipeTransform<string, number> {
  transform(text: string): number {
    return /^[1-9]\d{0,9}$/.test(text) && isId(Number(text)) ? Number(text) : 0;
  }
}
