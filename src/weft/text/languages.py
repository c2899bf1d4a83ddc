"""Codes of languages: what people write in their place, and which codes mean the same language."""

from __future__ import annotations

import re

from weft.errors import SettingError

LONGEST_CODE = 3
"""How many letters the code of a language has at most."""

# Names that people type in place of codes, of languages whose text is split by rules of their own.
_NAMES_WITH_RULES = {"chinese": "zh", "japanese": "ja", "korean": "ko", "thai": "th", "english": "en", "french": "fr"}
# Codes of countries that no language has, and the languages that people mean by them.
_COUNTRIES = {"cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "jp": "ja", "ua": "uk", "vn": "vi"}
# Codes that differ from those in lists of languages, and yet name one of them.
_SAME = {"no": "nb", "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "fil": "tl", "cmn": "zh", "yue": "zh"}
# Codes of three letters, as FLORES and many corpora have them: deu_Latn is German.
_THREE_LETTERS = (
    "afr=af amh=am arg=an ara=ar arb=ar asm=as aze=az azj=az bak=ba bel=be bul=bg ben=bn bod=bo bre=br bos=bs "
    "cat=ca ces=cs cym=cy dan=da deu=de ger=de dzo=dz ewe=ee ell=el eng=en epo=eo spa=es est=et ekk=et eus=eu "
    "fas=fa pes=fa fin=fi fao=fo fra=fr fre=fr fry=fy gle=ga gla=gd glg=gl grn=gn guj=gu glv=gv hau=ha heb=he "
    "hin=hi hrv=hr hat=ht hun=hu hye=hy ina=ia ind=id ibo=ig ido=io isl=is ita=it jpn=ja jav=jv kat=ka kaz=kk "
    "khm=km kan=kn kor=ko kur=ku kmr=ku kir=ky lat=la ltz=lb lao=lo lit=lt lav=lv lvs=lv mlg=mg plt=mg mri=mi "
    "mkd=mk mal=ml mon=mn khk=mn mar=mr msa=ms zsm=ms mlt=mt mya=my nob=nb nep=ne npi=ne nld=nl nno=nn oci=oc "
    "orm=om gaz=om ori=or ory=or pan=pa pol=pl pus=ps pbt=ps por=pt que=qu quy=qu ron=ro rus=ru kin=rw srd=sc "
    "snd=sd sin=si slk=sk slv=sl sna=sn som=so sqi=sq als=sq srp=sr ssw=ss sot=st sun=su swe=sv swa=sw swh=sw "
    "tam=ta tel=te tgk=tg tha=th tir=ti tuk=tk tgl=tl tsn=tn tur=tr tat=tt uig=ug ukr=uk urd=ur uzb=uz uzn=uz "
    "ven=ve vie=vi wol=wo xho=xh yid=yi ydd=yi yor=yo zho=zh chi=zh zul=zu "
    # Second codes of the same languages, as catalogues of libraries have them (ISO 639-2/B), and Norwegian.
    "alb=sq arm=hy baq=eu bur=my cze=cs dut=nl geo=ka gre=el ice=is mac=mk mao=mi may=ms nor=nb per=fa rum=ro slo=sk "
    "tib=bo wel=cy"
)
_SAME |= dict(entry.split("=") for entry in _THREE_LETTERS.split())
# What people type in place of codes; of a name of several words, the first.
_NAMES = (
    "afrikaans=af amharic=am aragonese=an arabic=ar assamese=as asturian=ast azerbaijani=az azeri=az bashkir=ba "
    "belarusian=be belarussian=be bulgarian=bg bengali=bn bangla=bn tibetan=bo breton=br bosnian=bs catalan=ca "
    "valencian=ca sorani=ckb czech=cs welsh=cy danish=da german=de dzongkha=dz ewe=ee greek=el english=en "
    "esperanto=eo spanish=es castilian=es estonian=et basque=eu persian=fa farsi=fa dari=fa finnish=fi faroese=fo "
    "french=fr frisian=fy irish=ga gaelic=gd galician=gl guarani=gn gujarati=gu manx=gv hausa=ha hebrew=he hindi=hi "
    "croatian=hr sorbian=hsb haitian=ht hungarian=hu armenian=hy interlingua=ia indonesian=id igbo=ig ilocano=ilo "
    "ido=io icelandic=is italian=it japanese=ja javanese=jv georgian=ka kabyle=kab kazakh=kk khmer=km cambodian=km "
    "kannada=kn korean=ko kurdish=ku kurmanji=ku kyrgyz=ky kirghiz=ky latin=la luxembourgish=lb lao=lo laotian=lo "
    "lithuanian=lt latvian=lv maithili=mai malagasy=mg maori=mi macedonian=mk malayalam=ml mongolian=mn marathi=mr "
    "malay=ms maltese=mt burmese=my myanmar=my norwegian=nb bokmal=nb bokmål=nb nepali=ne dutch=nl flemish=nl "
    "nynorsk=nn pedi=nso sepedi=nso occitan=oc oromo=om oriya=or odia=or punjabi=pa panjabi=pa polish=pl pashto=ps "
    "portuguese=pt quechua=qu romanian=ro moldovan=ro moldavian=ro russian=ru kinyarwanda=rw sardinian=sc sindhi=sd "
    "sinhala=si sinhalese=si slovak=sk slovenian=sl slovene=sl shona=sn somali=so albanian=sq serbian=sr swati=ss "
    "swazi=ss sotho=st sesotho=st sundanese=su swedish=sv swahili=sw tamil=ta telugu=te tajik=tg thai=th tigrinya=ti "
    "turkmen=tk tagalog=tl filipino=tl tswana=tn setswana=tn turkish=tr tatar=tt uyghur=ug uighur=ug ukrainian=uk "
    "urdu=ur uzbek=uz venda=ve vietnamese=vi wolof=wo xhosa=xh yiddish=yi yoruba=yo chinese=zh mandarin=zh "
    "cantonese=zh zulu=zu "
    # In their own languages.
    "deutsch=de français=fr francais=fr español=es espanol=es castellano=es català=ca italiano=it português=pt "
    "portugues=pt română=ro nederlands=nl dansk=da svenska=sv norsk=nb suomi=fi polski=pl česky=cs čeština=cs "
    "magyar=hu türkçe=tr ελληνικά=el русский=ru українська=uk български=bg עברית=he العربية=ar فارسی=fa हिन्दी=hi "
    "中文=zh 日本語=ja 한국어=ko ไทย=th"
)
_CODES = dict(entry.split("=") for entry in _NAMES.split())


def primary_code(language: str | None) -> str:
    """The part of a language code that names the language: "zh" of "zh_Hant"; nothing where it is not known."""
    primary = re.split("[-_]", (language or "").strip().lower())[0]
    return "" if primary == "und" else _NAMES_WITH_RULES.get(primary, primary)


def checked_code(language: str | None) -> str:
    """The part of a language code that names the language, if it is no other code or name.

    Raises:
        SettingError: The code is that of a country, or the name of a language that weft knows by its code alone.
    """
    primary = primary_code(language)
    if primary in _COUNTRIES:
        raise SettingError(f"{language} is the code of a country; the language is {_COUNTRIES[primary]}.")
    # Some names, as Ewe, are codes too.
    if primary in _CODES and (len(primary) > LONGEST_CODE or not primary.isascii()):
        raise SettingError(f"{language} is the name of a language; use its code, {_CODES[primary]}.")
    return primary


def listed_code(language: str | None) -> str:
    """A language's code as lists of languages have it: "de" of "deu_Latn"; nothing where it is not known."""
    primary = primary_code(language)
    return _SAME.get(primary, primary)
