/** What is in it or on it: in a name, and in a sentence. */
export interface Flavour {
  readonly name: string;
  readonly note: string;
}

const flavour = (name: string, note: string): Flavour => ({ name, note });

export const FLAVOURS = {
  bread: [
    flavour('Gandum', 'Wholemeal flour gives it a nutty taste and a crumb that stays moist for days.'),
    flavour('Biji Wijen', 'Roasted sesame seeds cover the crust.'),
    flavour('Susu', 'Fresh milk instead of water makes the crumb soft as cotton.'),
    flavour('Madu', 'A spoon of Sumbawa honey goes into each dough.'),
    flavour('Kismis', 'Raisins were soaked in black tea overnight.'),
    flavour('Rosemary', 'Rosemary from Lembang and sea salt are pressed into the top.'),
    flavour('Zaitun', 'Whole green olives are folded in by hand.'),
    flavour('Bawang Putih', 'Garlic is roasted for an hour until it is sweet.'),
    flavour('Keju', 'Aged cheese melts into the dough and browns on top.'),
    flavour('Kenari', 'Maluku kenari nuts are toasted and coarsely chopped.'),
    flavour('Rye', 'A third of the flour is dark rye.'),
    flavour('Labu Kuning', 'Steamed pumpkin colours the crumb golden.'),
  ],
  filling: [
    flavour('Cokelat', 'The filling is dark chocolate from Sulawesi.'),
    flavour('Keju', 'The filling is cheese, and more of it is grated on top.'),
    flavour('Kacang Hijau', 'Mung beans are cooked with palm sugar and pandan.'),
    flavour('Kelapa', 'Young coconut is simmered in palm sugar until it shines.'),
    flavour('Pisang', 'Ripe pisang raja caramelises inside.'),
    flavour('Abon Sapi', 'Beef floss covers it, salty and sweet at once.'),
    flavour('Srikaya', 'Coconut jam is stirred over a small flame for three hours.'),
    flavour('Kopi Gayo', 'The cream tastes of Gayo coffee, roasted the same week.'),
    flavour('Durian', 'The cream is made of Medan durian and of little else.'),
    flavour('Nanas', 'Pineapple jam with clove and cinnamon is inside.'),
    flavour('Matcha', 'The cream is whisked with green tea.'),
    flavour('Almond', 'Almond cream is piped in, and slivers are baked on top.'),
    flavour('Ubi Ungu', 'Purple sweet potato from Cilembu makes the filling.'),
    flavour('Karamel Asin', 'Salted caramel runs out at the first bite.'),
  ],
  cake: [
    flavour('Pandan', 'Juice of pandan leaves gives it its green and its scent.'),
    flavour('Original', 'It is the recipe of the house, with nothing added.'),
    flavour('Prunes', 'Prunes lie between the layers.'),
    flavour('Keju', 'Edam is grated into the batter.'),
    flavour('Cokelat', 'Cocoa from Jembrana makes it deep and not too sweet.'),
    flavour('Moka', 'Strong coffee and a little cocoa go into the cream.'),
    flavour('Stroberi', 'Strawberries come from Ciwidey.'),
    flavour('Mangga', 'Harum manis mangoes are puréed into the cream.'),
    flavour('Red Velvet', 'Under the red crumb there is a light cream cheese.'),
    flavour('Kayu Manis', 'Kerinci cinnamon warms every bite.'),
    flavour('Lemon', 'Zest and juice of lemons keep it fresh.'),
    flavour('Gula Aren', 'Palm sugar from Banten brings smoke and caramel.'),
    flavour('Taro', 'Taro gives a violet colour and a taste of vanilla.'),
    flavour('Kacang', 'Peanuts are roasted and crushed by hand.'),
  ],
  snack: [
    flavour('Original', 'It is made as in every good household.'),
    flavour('Wijen Hitam', 'Black sesame is stirred into the dough.'),
    flavour('Pandan', 'Pandan is pressed fresh every morning.'),
    flavour('Gula Merah', 'Palm sugar melts inside.'),
    flavour('Ubi Ungu', 'Purple sweet potato makes it soft.'),
    flavour('Cokelat', 'There is chocolate in the middle.'),
    flavour('Keju', 'A cube of cheese hides in the middle.'),
    flavour('Kacang Tanah', 'Ground peanuts with a pinch of salt fill it.'),
    flavour('Jahe', 'Red ginger warms the throat.'),
    flavour('Nangka', 'Jackfruit is cut fine and folded in.'),
  ],
} as const;

/** A size in a name, and how often the smallest price it costs. */
export const SIZES = {
  loaf: [
    { name: '400 g', times: 1 },
    { name: '700 g', times: 1.6 },
    { name: '1 kg', times: 2.1 },
  ],
  piece: [
    { name: '1 pc', times: 1 },
    { name: 'isi 4', times: 3.8 },
    { name: 'isi 10', times: 9 },
  ],
  cake: [
    { name: '10 × 20 cm', times: 1 },
    { name: '20 × 20 cm', times: 1.9 },
    { name: '24 × 24 cm', times: 2.6 },
  ],
  round: [
    { name: 'Ø 16 cm', times: 1 },
    { name: 'Ø 20 cm', times: 1.5 },
    { name: 'Ø 26 cm', times: 2.3 },
  ],
  jar: [
    { name: '250 g', times: 1 },
    { name: '500 g', times: 1.9 },
    { name: '1 kg', times: 3.5 },
  ],
} as const;
